import { t } from 'elysia'

/** What `schema_url` of a person leads to: the JSON Schema of the schema `user`. */
export const USER_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'user',
  type: 'object',
  properties: {
    traits: {
      type: 'object',
      properties: {
        email: { type: 'string', format: 'email', title: 'E-Mail' },
        tenant_id: { type: 'string', format: 'uuid', readOnly: true },
        custom_data: { type: 'object' },
      },
      required: ['email'],
      additionalProperties: false,
    },
  },
}

export const UserSchema = t.Object({}, { additionalProperties: true })
