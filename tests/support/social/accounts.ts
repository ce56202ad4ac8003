import { createHash } from 'node:crypto'

/** An account at a fake provider. */
export interface Account {
  /** The provider's id of the user. Digits for providers that number people. */
  id: string
  /** Null if the provider has none, as for users who signed up by phone. */
  email: string | null
  isVerified: boolean
  name: string
  /** Claims that are added or replaced. */
  claims?: Record<string, unknown>
}

let made = 0

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

/** The id of a directory's object; always the same for `text`. */
export const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

/** Directories of Microsoft: one of a company, and that of personal accounts. */
export const ORGANISATION = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490'
export const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'
