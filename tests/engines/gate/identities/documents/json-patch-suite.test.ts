import { expect, test } from 'bun:test'
import SPECIFIED from 'json-patch-test-suite/spec_tests.json'
import GENERAL from 'json-patch-test-suite/tests.json'
import type { Json } from '../../../../../src/engines/gate/identities/documents/json.ts'
import {
  type Projection,
  patchIdentity,
} from '../../../../../src/engines/gate/identities/documents/projection.ts'
import { frozen, ruleOf } from './support.ts'

interface Step {
  path?: string
  from?: string
}

/** Without `expected` and `error`, the document stays as it is. */
interface Example {
  comment?: string
  doc: Json
  patch: Step[]
  expected?: Json
  error?: string
}

// Of two members of the same name, the JSON parser keeps the last one, which is valid.
const examples = ([...GENERAL, ...SPECIFIED] as unknown as Example[]).filter(
  ({ error = '' }) => !error.includes("two 'op' members"),
)

test.each(['/metadata_public/d', '/traits/custom_data/d'])(
  'The examples of json-patch-tests hold at %s',
  (at) => {
    const embed = (d: Json): Projection => {
      const traits = { email: 'a@b.example', tenant_id: 't' }
      return at.startsWith('/traits')
        ? { traits: { ...traits, custom_data: { d } }, metadata_public: {}, state: 'active' }
        : { traits, metadata_public: { d }, state: 'active' }
    }
    const below = ({ path, from, ...rest }: Step): Step => ({
      ...rest,
      ...(path !== undefined && { path: at + path }),
      ...(from !== undefined && { from: at + from }),
    })
    expect(examples.length).toBeGreaterThan(85)
    for (const { comment, doc, patch, expected = doc, error } of examples) {
      const title = `${comment} ${JSON.stringify(patch)}`
      const outcome = () => patchIdentity(frozen(embed(doc)), frozen(patch.map(below)))
      if (error === undefined) expect(outcome(), title).toEqual(embed(expected))
      else expect(ruleOf(outcome), title).toBeString()
    }
  },
)
