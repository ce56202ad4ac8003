import type { JsonSchema } from '../../src/http/api-document.ts'
import { Prose } from './prose.tsx'

export interface FieldRow {
  name: string
  schema: JsonSchema
  /** Undefined in responses, where it says nothing. */
  isRequired?: boolean
}

/** Fields with types and descriptions. */
export const Fields = ({ title, rows }: { title?: string; rows: readonly FieldRow[] }) => (
  <div class="fields">
    {title && <h4>{title}</h4>}
    <dl>
      {rows.map(({ name, schema, isRequired }) => (
        <div>
          <dt>
            <code>{name}</code>
            {isRequired && <b>required</b>}
          </dt>
          <dd>
            {typeOf(schema)}
            {schema.default !== undefined && schema.default !== null && (
              <>
                {' '}
                Default: <code>{JSON.stringify(schema.default)}</code>.
              </>
            )}
            {schema.description && (
              <p>
                <Prose text={schema.description} />
              </p>
            )}
          </dd>
        </div>
      ))}
    </dl>
  </div>
)

/** Fields of an object including nested ones, named by path: `traits.email`, `providers[].enabled`. */
export const fieldsOf = (schema: JsonSchema, within = ''): FieldRow[] => {
  const { properties = {}, required = [] } = objectIn(schema)
  return Object.entries(properties).flatMap(([name, field]) => [
    { name: within + name, schema: field, isRequired: required.includes(name) },
    ...fieldsOf(field, `${within}${name}.`),
    ...fieldsOf(objectIn(field).items ?? {}, `${within}${name}[].`),
  ])
}

/** The object or list of a schema that also allows null. */
const objectIn = (schema: JsonSchema): JsonSchema =>
  schema.anyOf?.find(({ properties, items }) => properties ?? items) ?? schema

function typeOf(schema: JsonSchema): string {
  if (schema.expected) return schema.expected
  if (schema.enum) return schema.enum.join(', ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  if (schema.type === 'boolean') return 'true or false'
  return [schema.type ?? 'any'].flat().join(' or ')
}
