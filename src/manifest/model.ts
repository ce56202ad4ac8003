import { t } from 'elysia'
import { oneOf } from '../http/schemas.ts'

const FieldChange = t.Object({
  field: t.String(),
  before: t.Unknown(),
  after: t.Unknown({ description: 'Secrets are masked.' }),
})

export const Change = t.Object({
  action: oneOf(['create', 'update', 'delete']),
  kind: t.String({ examples: ['job'] }),
  name: t.Nullable(t.String({ examples: ['Nightly report'] }), {
    description: 'Name or URL of the object; null for a setting.',
  }),
  id: t.Nullable(t.String(), {
    description: 'Null before an object is created, and for a setting.',
  }),
  fields: t.Array(FieldChange),
  secret: t.Optional(
    t.Nullable(t.String(), {
      description: 'After a creation: the API key or signing secret. Shown only once.',
    }),
  ),
  ping_url: t.Optional(t.Nullable(t.String(), { description: 'After the creation of a monitor.' })),
})

export const Changes = t.Object({ changes: t.Array(Change) })
