import { createHash } from 'node:crypto'

/** Somebody who has an account at a fake provider. */
export interface Account {
  /** What the provider knows them by. Digits for those that number people. */
  id: string
  /** Null where the provider has none, as with people who signed up by phone. */
  email: string | null
  /** Whether the provider says that it checked the address. */
  isVerified: boolean
  name: string
  /** What the provider says besides, or otherwise. */
  claims?: Record<string, unknown>
}

let made = 0

/** Somebody new, with what a test does not care about filled in. */
export function newAccount(fields: Partial<Account> = {}): Account {
  const id = String(583_231 + made++)
  return {
    id,
    email: `person-${id}@example.com`,
    isVerified: true,
    name: `Person ${id}`,
    ...fields,
  }
}

/** An id such as directories use, always the same for `text`. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
    .concat(hex.slice(20, 32))
    .join('-')
}
