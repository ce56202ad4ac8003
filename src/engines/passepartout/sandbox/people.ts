import type { Person } from '../messenger.ts'

/** Whom one may be in the sandbox: enough to try out what happens to a second one, and in German. */
export const SANDBOX_PEOPLE: readonly [Person, ...Person[]] = [
  person('ada', 'Ada', 'Lovelace', 'en'),
  person('grace', 'Grace', 'Hopper', 'en'),
  person('konrad', 'Konrad', 'Zuse', 'de'),
]

function person(id: string, firstName: string, lastName: string, languageCode: string): Person {
  return { id, username: `${id}_sandbox`, firstName, lastName, languageCode }
}
