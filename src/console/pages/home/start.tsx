import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { page, usePage } from '../../page.tsx'

/** Page of an operator without a tenant, or whose tenant is created once the email address is verified. */
export const startPage = page({
  path: '/start',
  section: 'overview',
  right: 'operator',
  title: 'Overview',
  load: ({ operators, operator }) => ({ isWaiting: operators.signUp.isWaiting(operator.id) }),
  view({ isWaiting }) {
    if (isWaiting) return <Unverified />
    return usePage().operator.scope ? <Ready /> : <NoTenant />
  },
})

function Unverified() {
  const { operator, mail, href } = usePage()
  return (
    <>
      <PageHead
        title="Verify your email"
        state={{
          tone: 'warn',
          sentence: (
            <>
              Your tenant is created once <Text text={operator.email} limit={64} /> is verified.
            </>
          ),
        }}
      />
      {mail.hasServer ? (
        <ActionButton weight="primary" action={href('/account/verify')}>
          Verify email
        </ActionButton>
      ) : (
        <p class="hint">
          Gatehouse can't send emails yet. Ask an admin of the installation to set up a mail server.
        </p>
      )}
    </>
  )
}

const Ready = () => (
  <>
    <PageHead
      title="Your tenant is ready"
      state={{ tone: 'good', sentence: 'You are a member of a tenant now.' }}
    />
    <LinkButton weight="primary" href={usePage().href('')}>
      Go to the overview
    </LinkButton>
  </>
)

function NoTenant() {
  const { operator, href } = usePage()
  return (
    <>
      <PageHead
        title="No tenant"
        state={{
          tone: 'warn',
          sentence:
            operator.memberships.length > 0
              ? 'You no longer have access to the selected tenant. Select another one at the top left.'
              : "You're not a member of any tenant. Ask an owner to invite you.",
        }}
      />
      <LinkButton href={href('/account')}>Account</LinkButton>
    </>
  )
}
