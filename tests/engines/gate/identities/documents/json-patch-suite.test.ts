import { describe, expect, test } from 'bun:test'
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
  disabled?: boolean
}

const PLACES: [at: string, embed: (document: Json) => Projection][] = [
  [
    '/metadata_public/d',
    (d) => ({
      traits: { email: 'a@b.example', tenant_id: 't' },
      metadata_public: { d },
      state: 'active',
    }),
  ],
  [
    '/traits/custom_data/d',
    (d) => ({
      traits: { email: 'a@b.example', tenant_id: 't', custom_data: { d } },
      metadata_public: {},
      state: 'active',
    }),
  ],
]

/** Two members of the same name: the JSON parser keeps the last one, which is valid. */
const isLostInParsing = ({ error = '' }: Example) => error.includes("two 'op' members")

const examples = ([...GENERAL, ...SPECIFIED] as unknown as Example[]).filter(
  (example) => !isLostInParsing(example),
)

test('The suite is complete', () => expect(examples.length).toBeGreaterThan(85))

describe.each(PLACES)('The examples of json-patch-tests at %s', (at, embed) => {
  const below = ({ path, from, ...rest }: Step): Step => ({
    ...rest,
    ...(path !== undefined && { path: at + path }),
    ...(from !== undefined && { from: at + from }),
  })

  for (const { comment, doc, patch, expected = doc, error } of examples) {
    const outcome = () => patchIdentity(frozen(embed(doc)), frozen(patch.map(below)))
    const title = `${comment ?? ''} ${JSON.stringify(patch)}`

    if (error !== undefined) {
      test(`${title} is refused: ${error}`, () => expect(ruleOf(outcome)).toBeString())
    } else {
      test(title, () => expect(outcome()).toEqual(embed(expected)))
    }
  }
})
