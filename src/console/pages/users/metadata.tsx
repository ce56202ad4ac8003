import { Button } from '../../../../views/ui/form/button.tsx'
import { rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { Json, JsonObject } from '../../../engines/gate/identities/documents/json.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { checkMetadata } from '../../../engines/gate/identities/traits.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import { AppError, conflict, renamed } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'

/** Metadata of a user, as JSON. */
export const Metadata = ({ identity }: { identity: IdentityDetail }) => (
  <Section
    id="metadata"
    title="Metadata"
    note="Your data about this user. They can read it, but not change it. Policies can use it."
  >
    {usePage().may('change') ? (
      <PageForm
        action="metadata"
        anchor="metadata"
        hidden={{ seen: identity.updated_at }}
        buttons={<Button>Save metadata</Button>}
      >
        <Textarea
          name="metadata"
          label="JSON object"
          isMono
          rows={8}
          value={JSON.stringify(identity.metadata_public, null, 2)}
        />
      </PageForm>
    ) : (
      <JsonView title="Metadata" value={identity.metadata_public} />
    )}
  </Section>
)

/** Replaces the metadata, unless it was changed after the form was opened. */
export async function saveMetadata(
  { gate, caller, fields }: PageContext,
  before: IdentityDetail,
): Promise<void> {
  const path = '/metadata_public'
  const value = metadataIn(fields)
  refuseChanged(fields, before, 'metadata')
  const unchanged = { op: 'test', path, value: before.metadata_public }
  const replaced = { op: 'replace', path, value }
  await gate.editing.patch(caller('gate', 'live'), before.id, [unchanged, replaced])
}

/** Throws `conflict` if the user was changed after the form was opened. */
export function refuseChanged(fields: Fields, before: IdentityDetail, field: string) {
  if (trimmedText(fields, 'seen') !== before.updated_at)
    throw conflict('has changed since you opened this form. Save again to replace it', {
      field,
      rule: 'changed',
    })
}

/** The object in a form's field, `{}` for an empty one. */
export function metadataIn(fields: Fields): JsonObject {
  const metadata = documentIn(fields, 'metadata') ?? {}
  try {
    checkMetadata(metadata)
    return metadata as JsonObject
  } catch (error) {
    throw error instanceof AppError
      ? renamed(error, (field = '') => field.replace(/^metadata_public/, 'metadata'))
      : error
  }
}

/** JSON in a form's field; null for an empty one. */
export function documentIn(fields: Fields, name: string): Json | null {
  try {
    return parseJson((rawText(fields, name) ?? '').trim()) as Json | null
  } catch (error) {
    // The text as a whole is the body to its parser.
    throw error instanceof AppError
      ? renamed(error, (field = 'body') => field.replace(/^body/, name))
      : error
  }
}
