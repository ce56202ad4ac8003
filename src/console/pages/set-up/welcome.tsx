import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { trimmedText } from '../../form.ts'
import { page, usePage } from '../../page.tsx'
import { EntryLayout } from '../entry/account-fields.tsx'

/** Steps of the set-up. */
export const SET_UP_STEPS = ['Account and tenant', 'First goal', 'First result']

/** First page after sign-up, where an operator names the new tenant. */
export const welcomePage = page({
  path: '/welcome',
  isPlain: true,
  right: 'team',
  title: 'Welcome',
  load: ({ tenants, tenantId }) => ({ name: tenants.find(tenantId).name }),

  view: ({ name }) => (
    <EntryLayout
      windowTitle="Name your tenant"
      title="Name your tenant"
      intro="Your account includes a tenant. Everything that you create belongs to it."
      steps={{ at: 0, names: SET_UP_STEPS }}
    >
      <PageForm
        action=""
        initial={{ tenant: name }}
        buttons={
          <>
            <Button weight="primary">Continue</Button>
            <LinkButton weight="bare" href={usePage().href('')}>
              Skip for now
            </LinkButton>
          </>
        }
      >
        <Field
          name="tenant"
          label="Tenant"
          help="Your product or company. You can change it later in Settings."
          isRequired
          isFocused
        />
      </PageForm>
    </EntryLayout>
  ),

  actions: {
    '': {
      right: 'team',
      form: { name: 'tenant' },
      async run({ tenants, tenantId, actor, fields }) {
        const name = trimmedText(fields, 'tenant')
        if (name !== tenants.find(tenantId).name) await tenants.change(actor, tenantId, { name })
        return { to: '/get-started' }
      },
    },
  },
})
