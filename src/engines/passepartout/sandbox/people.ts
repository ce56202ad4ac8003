import type { Person } from '../messenger.ts'

/** Test users of the sandbox: enough to test a second user, and a German one. */
export const SANDBOX_PEOPLE: readonly [Person, ...Person[]] = [
  person('ada', 'Ada', 'Lovelace', 'en'),
  person('grace', 'Grace', 'Hopper', 'en'),
  person('konrad', 'Konrad', 'Zuse', 'de'),
]

function person(id: string, firstName: string, lastName: string, languageCode: string): Person {
  return { id, username: `${id}_sandbox`, firstName, lastName, languageCode }
}
