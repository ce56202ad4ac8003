import type { Language } from '../model/flows.ts'

/** Who sends a form, as far as that can be told. */
export interface Client {
  /** A browser that shows our pages, or a program that reads JSON. */
  wants: 'page' | 'json'
  ipAddress: string | null
  userAgent: string | null
  /** Undefined when it has asked for none that there is. */
  language: Language | undefined
  /** SHA-256 of the cookie by which a browser is known again. */
  browserHash: string | null
  /** The session that somebody says is theirs. */
  sessionToken: string | undefined
  /** It has a key of the tenant: its address is that of a server, and says nothing of people. */
  hasKey: boolean
}

/** What is kept of a device with the session that begins on it. */
export const deviceOf = ({ ipAddress, userAgent }: Client) => ({ ipAddress, userAgent })
