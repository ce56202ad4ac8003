import { t } from 'elysia'
import { MAX_DISPLAY_NAME_LENGTH, type SchemaId } from './traits.ts'

const address = { type: 'string', format: 'email', title: 'E-Mail' }
const tenantId = { type: 'string', format: 'uuid', readOnly: true }

const schema = (title: SchemaId, properties: Record<string, object>) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  type: 'object',
  properties: {
    traits: { type: 'object', properties, required: ['email'], additionalProperties: false },
  },
})

/** The JSON Schema of the schema `user`, served at an identity's `schema_url`. */
export const USER_SCHEMA = schema('user', {
  email: address,
  tenant_id: tenantId,
  custom_data: { type: 'object' },
})

/** The JSON Schema of operators of the console. */
export const OPERATOR_SCHEMA = schema('operator', {
  email: address,
  tenant_id: tenantId,
  display_name: { type: 'string', maxLength: MAX_DISPLAY_NAME_LENGTH, title: 'Name' },
  locale: { type: 'string', pattern: '^[a-z]{2}$', title: 'Language' },
})

export const TraitsSchema = t.Object({}, { additionalProperties: true })
