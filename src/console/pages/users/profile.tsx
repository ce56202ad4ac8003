import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { checkTraits } from '../../../engines/gate/identities/traits.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { documentIn, refuseChanged } from './metadata.tsx'

/** Email and custom data of a user. */
export function Profile({ identity }: { identity: IdentityDetail }) {
  const { email, custom_data: customData } = identity.traits
  if (!usePage().may('change'))
    return customData === undefined ? null : (
      <Section id="profile" title="Profile" note={THEIRS}>
        <JsonView title="Profile" value={customData} />
      </Section>
    )
  return (
    <Section id="profile" title="Profile" note={THEIRS}>
      <PageForm
        action="profile"
        anchor="profile"
        hidden={{ seen: identity.updated_at }}
        buttons={<Button>Save profile</Button>}
      >
        <Field
          name="email"
          label="Email"
          type="email"
          isRequired
          value={email}
          help="A new address is unverified, and codes sent to the old one stop working. Sessions continue."
        />
        <Textarea
          name="custom_data"
          label="Custom data"
          isRequired={false}
          isMono
          rows={customData === undefined ? 3 : 8}
          value={customData === undefined ? '' : JSON.stringify(customData, null, 2)}
          help="A JSON object, such as a name and an address."
        />
      </PageForm>
    </Section>
  )
}

const THEIRS = 'They can change it on their account page.'

/** Changes email and custom data, unless the user was changed after the form was opened. */
export async function saveProfile(
  { gate, caller, fields }: PageContext,
  before: IdentityDetail,
): Promise<{ flash: 'moved' | 'saved' }> {
  const email = trimmedText(fields, 'email')
  const customData = documentIn(fields, 'custom_data') ?? undefined
  checkTraits({ email, ...(customData !== undefined && { custom_data: customData }) })
  refuseChanged(fields, before, 'email')
  const path = '/traits/custom_data'
  const hadData = before.traits.custom_data !== undefined
  const { traits } = await gate.editing.patch(caller('gate', 'live'), before.id, [
    { op: 'replace', path: '/traits/email', value: email },
    ...(customData === undefined
      ? hadData
        ? [{ op: 'remove', path }]
        : []
      : [{ op: 'add', path, value: customData }]),
  ])
  return { flash: traits.email === before.traits.email ? 'saved' : 'moved' }
}
