//! Damage to documents.

use serde_json::{Value, json};

use crate::readers::Chance;

/// Puts something else in the place of one value somewhere in a document, or leaves a member out.
pub fn damage(document: &mut Value, chance: &mut Chance) {
    let others = [json!(null), json!(true), json!(-1), json!(1.5), json!("odd"), json!({}), json!({"odd": 1})];
    match document {
        Value::Object(members) if !members.is_empty() && chance.below(4) > 0 => {
            let index = chance.below(members.len());
            let Some((name, member)) = members.iter_mut().nth(index) else { return };
            if chance.below(4) > 0 {
                return damage(member, chance);
            }
            let name = name.clone();
            members.shift_remove(&name);
        }
        Value::Array(items) if !items.is_empty() && chance.below(4) > 0 => {
            let index = chance.below(items.len());
            damage(&mut items[index], chance);
        }
        value => *value = chance.pick(&others).clone(),
    }
}
