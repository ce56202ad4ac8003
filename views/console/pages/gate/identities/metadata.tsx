import { Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { errorAt } from '../../../form/values.ts'
import { JsonView } from '../../../json-view.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES } from './badges.tsx'
import type { IdentityView } from './identity-view.ts'

/** Metadata of a user, as JSON. */
export const Metadata = ({ base, identity, mayChange, input, errors }: IdentityView) => (
  <Section
    id="metadata"
    title="Metadata"
    note="Your data about this user. They can read it, but not change it. Policies can use it."
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
          label="JSON object"
          isMono
          rows={8}
          value={input ?? JSON.stringify(identity.metadata_public, null, 2)}
          error={errorAt(errors, 'metadata')}
        />
      </Form>
    ) : (
      <JsonView title="Metadata" value={identity.metadata_public} />
    )}
  </Section>
)
