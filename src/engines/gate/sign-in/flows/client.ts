import type { Language } from '../model.ts'

/** The sender of a form, as far as it is known. */
export interface Client {
  /** `page` for a browser on the hosted pages, `json` for a program. */
  wants: 'page' | 'json'
  ipAddress: string | null
  userAgent: string | null
  /** Undefined if none of the requested languages is supported. */
  language: Language | undefined
  /** SHA-256 of the cookie that identifies the browser. */
  browserHash: string | null
  /** The session token that the client sent; not verified yet. */
  sessionToken: string | undefined
  /** Whether there is an API key of the tenant. The IP address is then a server's, not a user's. */
  hasKey: boolean
}

/** The device data stored with a new session. */
export const deviceOf = ({ ipAddress, userAgent }: Client) => ({ ipAddress, userAgent })
