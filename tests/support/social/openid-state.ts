import type { Account } from './accounts.ts'
import type { AppleClient, SigningKey, Token } from './signing.ts'

export const CLIENT_ID = 'gatehouse-at-openid'
export const CLIENT_SECRET = 'a-secret-of-the-openid-client'

/** Changes an ID token before it is signed, `key` included. */
export type Tamper = (token: Token & { key: SigningKey }) => void

/** What all providers of one server share. */
export interface State {
  /** Who presses the button. */
  account: Account
  key: SigningKey
  tamper: Tamper | undefined
  redirectUris: Set<string>
  accounts: Map<string, Account>
  /** Who has signed in with Apple before. */
  greeted: Set<string>
  apple: AppleClient
  now(): number
}
