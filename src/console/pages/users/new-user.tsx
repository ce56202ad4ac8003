import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { Field, rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import type { NewIdentity } from '../../../engines/gate/identities/model.ts'
import type { Fields } from '../../../http/body.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { metadataIn } from './metadata.tsx'

/** The form of a new user. */
export const newUser = page({
  path: '/identities/new',
  section: 'identities',
  right: 'change',
  title: 'New user',

  load: () => ({}),

  view: () => (
    <>
      <PageHead title="New user" state={{ sentence: 'Creates a user without sending an email.' }} />
      <PageForm
        action=""
        buttons={<Button weight="primary">Create user</Button>}
        cancel="/identities"
      >
        <Field name="email" label="Email" type="email" isRequired />
        <Checkbox
          name="verified"
          label="Email verified"
          help="Select this only if you know that the address belongs to them."
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          isRequired={false}
          help={<WithoutPassword />}
        />
        <Textarea
          name="metadata"
          label="Metadata"
          isMono
          rows={6}
          isRequired={false}
          help='A JSON object, such as {"roles": ["admin"]}. The user can read it, but not change it.'
        />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'change',
      form: {
        'traits.email': 'email',
        'credentials.password.config.password': 'password',
        metadata: 'metadata',
      },
      flash: good('User created.'),
      async run({ gate, caller, fields }) {
        const { id } = await gate.identities.create(caller('gate', 'live'), wantedIn(fields))
        return { to: `/identities/${id}` }
      },
    },
  },
})

const WithoutPassword = () =>
  usePage().mail.hasServer ? (
    <>
      Without a password, they sign in with an email code or social login, or set a password with
      account recovery.
    </>
  ) : (
    <>
      Without a password, they can only use social login: email codes and account recovery need a
      mail server. <NoMailServer />
    </>
  )

function wantedIn(fields: Fields): NewIdentity {
  const email = trimmedText(fields, 'email')
  const password = rawText(fields, 'password') ?? ''
  return {
    schema_id: 'user',
    traits: { email },
    metadata_public: metadataIn(fields),
    ...(password !== '' && { credentials: { password: { config: { password } } } }),
    ...(trimmedText(fields, 'verified') !== '' && {
      verifiable_addresses: [{ value: email, verified: true }],
    }),
  }
}
