import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { initialOf, shownName } from '../flows/name.ts'
import type { Words } from './words.ts'

type Person = SandboxPage['people'][number]

/** The selection of the test user. The id beside the name is the value for automated tests. */
export const People = ({ people, words }: { people: Person[]; words: Words }) => (
  <fieldset class="people" aria-describedby="person-hint">
    <legend>{words.person.heading}</legend>
    {people.map(({ id, name, isChosen }) => (
      <label>
        <input type="radio" name="person" value={id} checked={isChosen} />
        <span class="avatar" aria-hidden="true">
          {initialOf(name)}
        </span>
        <bdi class="name">{shownName(name)}</bdi>
        <code>{id}</code>
      </label>
    ))}
    <p class="hint" id="person-hint">
      {words.person.text}
    </p>
  </fieldset>
)
