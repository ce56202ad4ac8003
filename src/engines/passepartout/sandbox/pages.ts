import type { Language } from '../language.ts'

/** A choice that the person in the chat has. */
export interface SandboxButton {
  label: string
  /** The value of `choice` in the form. */
  choice: string
  weight: 'approve' | 'deny' | 'number'
}

/** The chat with the test bot, for whoever followed a link to it. */
export interface SandboxPage {
  status: number
  language: Language
  /** Null where the link leads nowhere. */
  tenantName: string | null
  /** Whom one may be, as the field `person`; empty once all is said. */
  people: { id: string; name: string; isChosen: boolean }[]
  /** What was said, oldest first. Lines end with \n. */
  chat: { from: 'person' | 'bot'; text: string }[]
  /** Rows, as the messenger shows them beneath the last message; none once all is said. */
  buttons: SandboxButton[][]
  /** Whether to press Start alone, as the field `choice` with `start`, would change anything. */
  canPressStart: boolean
  /** How the sign-in ended, if it has. */
  outcome: 'approved' | 'denied' | 'expired' | 'unknown' | null
}

/** Draws pages; the engine knows no markup. */
export interface Pages {
  sandbox(page: SandboxPage): Response
}
