import type { Shape } from './shape.ts'
import { typeNames } from './types.ts'

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** JSON Schema (draft 2020-12) for all learned payloads; later ones may have more properties. */
export const toJsonSchema = (shape: Shape): Record<string, unknown> => ({
  $schema: DIALECT,
  ...schemaOf(shape),
})

function schemaOf(shape: Shape): Record<string, unknown> {
  const { types, format, properties, values, items } = shape
  const names = typeNames(types)
  const schema: Record<string, unknown> = { type: names.length === 1 ? names[0] : names }
  if (format !== undefined) schema.format = format
  if (properties !== undefined) describeProperties(schema, properties)
  if (values !== undefined) schema.additionalProperties = schemaOf(values)
  if (items !== undefined) schema.items = schemaOf(items)
  return schema
}

/** Has no prototype, because a property named `__proto__` would be lost otherwise. */
function describeProperties(
  schema: Record<string, unknown>,
  properties: Readonly<Record<string, Shape>>,
) {
  const schemas: Record<string, unknown> = Object.create(null)
  const required: string[] = []
  for (const key in properties) {
    const shape = properties[key] as Shape
    schemas[key] = schemaOf(shape)
    if (!shape.optional) required.push(key)
  }
  schema.properties = schemas
  if (required.length > 0) schema.required = required
}
