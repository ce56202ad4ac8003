import type { JsonSchema } from '../../src/http/api-document.ts'
import { Prose } from './prose.tsx'
import { objectsIn, ruleOf, typeOf, wordsOf } from './schema.ts'

interface Field {
  name: string
  schema: JsonSchema
  isRequired: boolean
}

/** Whether fields are sent or received: only what is sent can break a rule. */
type Direction = 'request' | 'response'

/** The fields of a request or response, or of an object in it. */
export const Fields = (view: { fields: readonly Field[]; direction: Direction }) => (
  <dl class="fields">
    {view.fields.map((field) => (
      <FieldRow {...field} direction={view.direction} />
    ))}
  </dl>
)

/** The fields of an object. */
export const fieldsOf = ({ properties = {}, required = [] }: JsonSchema): Field[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }))

const FieldRow = ({ name, schema, isRequired, direction }: Field & { direction: Direction }) => (
  <div>
    <dt>
      <code>{name}</code> <span>{typeOf(schema)}</span>
      {direction === 'request' && isRequired && <b> required</b>}
      {!isRequired && <span> optional</span>}
    </dt>
    <dd>
      {schema.description && (
        <p>
          <Prose text={schema.description} />
        </p>
      )}
      <Limits schema={schema} direction={direction} />
      {objectsIn(schema).map((object) => (
        <Nested object={object} direction={direction} isOpen={isRequired} />
      ))}
    </dd>
  </div>
)

const Limits = ({ schema, direction }: { schema: JsonSchema; direction: Direction }) => {
  const rule = direction === 'request' ? ruleOf(schema) : ''
  const words = wordsOf(rule === '' && schema.items ? schema.items : schema)
  const isSet = direction === 'request' && schema.default !== undefined
  if (rule === '' && words.length === 0 && !isSet) return null
  return (
    <p>
      {rule}
      {words.length > 0 && <Words words={words.filter((word) => word !== null)} />}
      {isSet && (
        <>
          {' '}
          Default: <code>{JSON.stringify(schema.default)}</code>.
        </>
      )}
    </p>
  )
}

const Words = ({ words }: { words: readonly unknown[] }) => (
  <>
    {words.length === 1 ? 'Always ' : 'One of '}
    {words.map((word, at) => (
      <>
        {at > 0 && ', '}
        <code>{`${word}`}</code>
      </>
    ))}
    .
  </>
)

/** An object within a field. Of several that are possible, each is named by the field that is always the same. */
const Nested = (view: { object: JsonSchema; direction: Direction; isOpen: boolean }) => {
  const fields = fieldsOf(view.object)
  const kind = fields.find(({ schema }) => schema.const !== undefined)
  return (
    <details class="fold" open={view.isOpen && view.direction === 'request'}>
      <summary>
        {fields.length === 1 ? '1 field' : `${fields.length} fields`}
        {kind && (
          <>
            {' '}
            if <code>{kind.name}</code> is <code>{`${kind.schema.const}`}</code>
          </>
        )}
      </summary>
      <Fields fields={fields} direction={view.direction} />
    </details>
  )
}
