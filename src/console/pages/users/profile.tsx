import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { isJsonObject, type JsonObject } from '../../../engines/gate/identities/documents/json.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { nameMemberOf } from '../../../engines/gate/identities/search/terms.ts'
import { checkTraits } from '../../../engines/gate/identities/traits.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { documentIn, refuseChanged } from './metadata.tsx'

/** Name, email and other custom data of a user. */
export function Profile({ identity }: { identity: IdentityDetail }) {
  const { email, custom_data: customData } = identity.traits
  if (!usePage().may('change'))
    return customData === undefined ? null : (
      <Section id="profile" title="Profile" note={THEIRS}>
        <JsonView title="Profile" value={customData} />
      </Section>
    )
  const { member, name, others } = namedIn(identity)
  const hasOthers = Object.keys(others).length > 0
  return (
    <Section id="profile" title="Profile" note={THEIRS}>
      <PageForm
        action="profile"
        anchor="profile"
        hidden={{ seen: identity.updated_at }}
        buttons={<Button>Save profile</Button>}
      >
        {member && (
          <Field
            name="name"
            label="Name"
            isRequired={false}
            value={name}
            help={
              <>
                Stored as <code>{member}</code> in the custom data.
              </>
            }
          />
        )}
        <Field
          name="email"
          label="Email"
          type="email"
          isRequired
          value={email}
          help={`A new address is unverified, and codes sent to the old one stop working. Sessions continue. ${useOldAddress(identity)}`}
        />
        <Textarea
          name="custom_data"
          label={member ? 'Other custom data' : 'Custom data'}
          isRequired={false}
          isMono
          rows={hasOthers ? 8 : 3}
          value={hasOthers ? JSON.stringify(others, null, 2) : ''}
          help="A JSON object, such as an address and a phone number."
        />
      </PageForm>
    </Section>
  )
}

const THEIRS = 'They can change it on their account page.'

/** What happens to the owner of the old address when the email changes. */
function useOldAddress(identity: IdentityDetail): string {
  if (!isVerified(identity)) return ''
  return usePage().mail.hasServer
    ? 'The old address gets a notice.'
    : 'The old address gets no notice, because this installation has no mail server.'
}

const isVerified = ({ verifiable_addresses: addresses }: IdentityDetail): boolean =>
  addresses.some(({ verified }) => verified)

/** Custom data as the form has it: the name, and all other members. */
function namedIn({ traits: { custom_data: data = {} } }: IdentityDetail) {
  const member = nameMemberOf(data as JsonObject)
  if (member === undefined) return { member, name: '', others: data as JsonObject }
  const { [member]: value, ...others } = data as JsonObject
  // Anything else than a text stays with the others.
  return typeof value === 'string' || value === undefined
    ? { member, name: value?.trim() ?? '', others }
    : { member: undefined, name: '', others: data as JsonObject }
}

/** Changes name, email and custom data, unless the user was changed after the form was opened. */
export async function saveProfile(
  { gate, caller, fields, mail }: PageContext,
  before: IdentityDetail,
): Promise<{ flash: 'moved' | 'unannounced' | 'saved' }> {
  const email = trimmedText(fields, 'email')
  const customData = customDataIn(fields, before)
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
  if (traits.email === before.traits.email) return { flash: 'saved' }
  return { flash: isVerified(before) && !mail.hasServer ? 'unannounced' : 'moved' }
}

/** The object in the form with the name, which is in a field of its own; undefined for neither. */
function customDataIn(fields: Fields, before: IdentityDetail) {
  const data = documentIn(fields, 'custom_data') ?? undefined
  const { member } = namedIn(before)
  const name = trimmedText(fields, 'name')
  if (member === undefined || name === '') return data
  if (data === undefined) return { [member]: name }
  if (!isJsonObject(data)) return data
  if (Object.hasOwn(data, member))
    throw invalid(`must not contain ${member}, which is in the field Name`, {
      field: 'custom_data',
      rule: 'duplicate',
    })
  return { [member]: name, ...data }
}
