/**
 * The contract `chaperone:agent` in its JSON form, as `docs/json.md` has it: what the sidecar and this package say to
 * each other. Records have all their fields; `null` stands where an option holds nothing.
 */

/** A JSON document as text. */
export type Json = string;

/** Milliseconds since the Unix epoch, UTC. */
export type Timestamp = number;

/** A language model, by the names that its provider gives it. */
export interface ModelId {
  provider: string;
  model: string;
}

/** The agent's wish to run a tool. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: Json;
}

/** One part of a message; an image is its media type, since its bytes stay here. */
export type Content = { text: string } | { thinking: string } | { tool_call: ToolCall } | { image: string };

/** Why a model stopped writing. */
export type StopReason = "stop" | "length" | "tool_use" | "aborted" | "error";

/** Token counts as the provider reported them. */
export interface Usage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  total: number;
}

/** A message of the agent's model. */
export interface AssistantMessage {
  content: Content[];
  stop_reason: StopReason;
  usage: Usage | null;
  model: ModelId | null;
  error: string | null;
}

/** What a tool gave back. */
export interface ToolResult {
  call_id: string;
  tool_name: string;
  content: Content[];
  is_error: boolean;
  details: Json | null;
}

/** A message that an extension, not the user, put into the conversation. */
export interface CustomMessage {
  custom_type: string;
  content: string;
  display: boolean;
  details: Json | null;
}

/** What one entry of a session holds; `other` is the type of an entry that plugins have no use for. */
export type EntryBody =
  | { user: Content[] }
  | { assistant: AssistantMessage }
  | { tool_result: ToolResult }
  | { custom: CustomMessage }
  | { compaction: string }
  | { other: string };

/** One entry of the current branch. */
export interface Entry {
  id: string;
  timestamp: Timestamp;
  body: EntryBody;
}

/** How the agent came to rest. */
export type SettledReason = "finished" | "interrupted" | "failed";

/** Why a session begins for the plugins. */
export type StartReason = "new" | "resume" | "fork" | "reload";

/** Who is on the other side of the agent. */
export type Mode = "interactive" | "rpc" | "one_shot";

/** One model call of the agent, and the tools that it led to. */
export interface Turn {
  index: number;
  message: AssistantMessage;
  tool_results: ToolResult[];
}

/** One message as the `context` hook sees it. */
export interface ContextMessage {
  entry: string | null;
  /** `user`, `assistant`, `tool-result`, or the custom type. */
  kind: string;
  details: Json | null;
}

/** The hooks that this package sends; the sidecar runs `session_start`, `branch_changed` and `session_end` itself. */
export type Event =
  | "agent_start"
  | "agent_end"
  | { input: { content: Content[] } }
  | { turn_start: { index: number } }
  | { message_update: { usage: Usage | null } }
  | { message_end: { message: Entry } }
  | { tool_start: { call: ToolCall } }
  | { tool_end: { outcome: ToolResult } }
  | { turn_end: { turn: Turn } }
  | { agent_settled: { reason: SettledReason } }
  | { context: { messages: ContextMessage[] } };

/** What becomes of a tool call. */
export type Gate = "allow" | "hold" | { refuse: string };

/** How a piece of text is meant. */
export type Tone = "normal" | "muted" | "success" | "warning" | "error";

/** A piece of a line. */
export interface Span {
  text: string;
  tone: Tone;
}

/** One line of text. */
export type Line = Span[];

/** When a message reaches the agent. */
export type Delivery = "steer" | "follow_up" | "next_turn";

/** A message to the agent. */
export interface Injection {
  custom_type: string;
  content: string;
  display: boolean;
  details: Json | null;
  delivery: Delivery;
  trigger_turn: boolean;
}

/** A block in the transcript that never enters the model's context. */
export interface Notice {
  custom_type: string;
  title: Line;
  details: Line[];
  data: Json | null;
}

/** One thing to choose. */
export interface Choice {
  value: string;
  label: string;
  description: string;
}

/** One line of a settings panel; without choices it is free text. */
export interface Setting {
  key: string;
  label: string;
  value: string;
  description: string;
  choices: Choice[];
}

/** A question to the user. */
export type Prompt =
  | { confirm: [title: string, body: string] }
  | { select: [title: string, choices: Choice[]] }
  | { input: [title: string, initial: string] }
  | { settings: [title: string, settings: Setting[]] };

/** The user's answer. */
export type Answer =
  | { confirmed: boolean }
  | { selected: string }
  | { entered: string }
  | { changed: [key: string, value: string] }
  | "dismissed"
  | "unavailable";

/** The effects that the sidecar leaves to the agent's host. */
export type Effect =
  | "abort"
  | { inject: Injection }
  | { release: { call_id: string; refusal: string | null } }
  | { notify: { text: string; tone: Tone } }
  | { set_status: { text: Line | null } }
  | { set_widget: { lines: Line[] } }
  | { show: Notice }
  | { ask: { id: number; prompt: Prompt } };

/** How much a model should think before it answers. */
export type Effort = "lowest" | "low" | "medium" | "high";

/** A question to a model. */
export interface CompletionRequest {
  label: string;
  model: ModelId | null;
  system: string | null;
  messages: { role: "user" | "assistant"; text: string }[];
  max_output_tokens: number | null;
  effort: Effort;
  response_schema: Json | null;
  timeout_ms: number | null;
  streamed: boolean;
  cache_key: string | null;
}

/** A model's answer; `parts` are kind and size in characters of what came. */
export interface Completion {
  text: string;
  stop_reason: StopReason;
  usage: Usage | null;
  model: ModelId;
  parts: [kind: string, characters: number][];
}

/** Why there is no answer. */
export type LlmError =
  | { unknown_model: string }
  | { authentication: string }
  | { rate_limited: number | null }
  | "timed_out"
  | "cancelled"
  | { provider: string };

/** What is known of a model. */
export interface ModelInfo {
  id: ModelId;
  context_window: number | null;
  max_output_tokens: number | null;
  reasons: boolean;
}

/** A command that the user can run as `/name`. */
export interface Command {
  name: string;
  description: string;
}

/** A tool that the agent can call. */
export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: Json;
}

/** What a plugin says of itself. */
export interface Description {
  name: string;
  version: string;
  summary: string;
  hooks: string[];
  commands: Command[];
  tools: Tool[];
}

/** One way to go on typing a command. */
export interface CompletionItem {
  value: string;
  label: string;
  description: string;
}

/** What came of a call of a plugin's tool. */
export type ToolOutcome = { ok: { content: string; details: Json | null } } | { err: string };
