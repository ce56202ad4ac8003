import type { ComponentChildren } from 'preact'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { trimmedText } from '../../form.ts'
import { page, usePage } from '../../page.tsx'
import { EntryLayout } from '../entry/account-fields.tsx'

/** Steps of the set-up. */
export const SET_UP_STEPS = ['Account and tenant', 'API key', 'First job']

/** A page of the set-up, after the account exists. */
export const SetUpStep = ({
  at,
  title,
  ...step
}: {
  at: number
  title: string
  intro: string
  isWide?: boolean
  isLive?: boolean
  children: ComponentChildren
}) => (
  <EntryLayout windowTitle={title} title={title} steps={{ at, names: SET_UP_STEPS }} {...step} />
)

/** First page after sign-up, where an operator names the new tenant. */
export const welcomePage = page({
  path: '/welcome',
  isPlain: true,
  right: 'team',
  title: 'Welcome',
  load: ({ tenants, tenantId }) => ({ name: tenants.find(tenantId).name }),

  view: ({ name }) => (
    <SetUpStep
      at={0}
      title="Name your tenant"
      intro="Your account includes a tenant. Everything that you create belongs to it."
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
    </SetUpStep>
  ),

  actions: {
    '': {
      right: 'team',
      form: { name: 'tenant' },
      async run({ tenants, tenantId, actor, fields }) {
        const name = trimmedText(fields, 'tenant')
        if (name !== tenants.find(tenantId).name) await tenants.change(actor, tenantId, { name })
        return { to: '/first-key' }
      },
    },
  },
})
