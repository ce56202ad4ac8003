import { Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { JsonView } from '../../../json-view.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import type { IdentityView } from './identity.tsx'
import { IDENTITIES, messageIn } from './marks.tsx'

/** What a tenant knows of somebody, to be read or written as JSON. */
export const Metadata = ({ base, identity, mayChange, typed, errors }: IdentityView) => (
  <Section
    id="metadata"
    title="Metadata"
    note="What you know of them. They can read it and not change it; policies can ask for it."
  >
    {mayChange ? (
      <Form
        action={`${url(base, `${IDENTITIES}/${identity.id}/metadata`)}#metadata`}
        errors={errors}
        hidden={{ seen: identity.updated_at }}
        buttons={<Button>Save metadata</Button>}
      >
        <Textarea
          name="metadata"
          label="A JSON object"
          isMono
          rows={8}
          value={typed ?? JSON.stringify(identity.metadata_public, null, 2)}
          error={messageIn(errors, 'metadata')}
        />
      </Form>
    ) : (
      <JsonView title="Metadata" value={identity.metadata_public} />
    )}
  </Section>
)
