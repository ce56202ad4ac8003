import type { Language } from '../language.ts'

/** A button in the chat. */
export interface SandboxButton {
  label: string
  /** The value of `choice` in the form. */
  choice: string
  weight: 'approve' | 'deny' | 'number'
}

/** The data of the page of the chat with the test bot. */
export interface SandboxPage {
  status: number
  language: Language
  /** Null if the link is unknown. */
  tenantName: string | null
  /** Test users to choose from, as the field `person`; empty once the sign-in has ended. */
  people: { id: string; name: string; isChosen: boolean }[]
  /** Messages, oldest first. Lines end with \n. */
  chat: { from: 'person' | 'bot'; text: string }[]
  /** Rows of buttons below the last message; empty once the sign-in has ended. */
  buttons: SandboxButton[][]
  /** Whether pressing only Start (`choice` is `start`) would have an effect. */
  canPressStart: boolean
  /** How the sign-in ended; null while it is pending. */
  outcome: 'approved' | 'denied' | 'expired' | 'unknown' | null
}

/** Renders pages; the engine contains no markup. */
export interface Pages {
  sandbox(page: SandboxPage): Response
}
