import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { trimmedText } from '../../form.ts'
import { createSessionCookie } from '../../operators/session-cookie.ts'
import { page } from '../../page.tsx'
import { SET_UP_STEPS } from '../set-up/welcome.tsx'
import { ACCOUNT_FORM, AccountFields, EntryLayout, newcomerIn, UsedUp } from './account-fields.tsx'

/** First step of the set-up: the admin account and the first tenant. */
export const setUpPage = page({
  path: '/setup/:token',
  isOutside: true,
  isPlain: true,
  right: 'anyone',

  load: ({ operators, params }) => ({ isValid: operators.links.isForSetUp(params.token) }),
  status: ({ isValid }) => (isValid ? 200 : 404),
  title: 'Set up',

  view: ({ isValid }) =>
    isValid ? (
      <EntryLayout
        windowTitle="Set up"
        title="Set up Gatehouse"
        intro="Create your admin account and your first tenant."
        steps={{ at: 0, names: SET_UP_STEPS }}
      >
        <PageForm action="" buttons={<Button weight="primary">Create account and tenant</Button>}>
          <AccountFields />
          <Field
            name="tenant"
            label="Tenant"
            help="Your product or company. All data belongs to a tenant."
            placeholder="Acme"
            isRequired
          />
        </PageForm>
      </EntryLayout>
    ) : (
      <UsedUp
        what="set-up link"
        next="The server writes a new link to its log at each start, until the set-up is complete."
      />
    ),

  actions: {
    '': {
      right: 'anyone',
      form: ACCOUNT_FORM,
      async run({ operators, params: { token }, fields, device, baseUrl }) {
        if (!operators.links.isForSetUp(token)) return { again: true }
        const account = { ...newcomerIn(fields), tenantName: trimmedText(fields, 'tenant') }
        const session = await operators.entry.setUp(token, account, device)
        return {
          to: '/get-started',
          cookies: createSessionCookie({ baseUrl }).sessionCookies(session),
        }
      },
    },
  },
})
