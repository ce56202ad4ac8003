import { Button } from '../../../../views/ui/form/button.tsx'
import { Form, PageForm } from '../../../../views/ui/form/form.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { conflict } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import type { AcceptanceIssue } from '../../operators/entry.ts'
import { createSessionCookie } from '../../operators/session-cookie.ts'
import { type AnyonePageContext, type Outcome, page, usePage } from '../../page.tsx'
import { ACCOUNT_FORM, AccountFields, EntryLayout, newcomerIn, UsedUp } from './account-fields.tsx'

/** Account that the page showed, in case another tab has signed in as someone else. */
const ACCOUNT_FIELD = 'account'

interface Invited {
  tenantName: string
  role: string
  email: string
  /** Account of the signed-in operator, and why it can't accept the invitation yet. */
  account: { id: string; email: string; issue: AcceptanceIssue | undefined } | undefined
  loginHref: string
}

/** Invitation to a tenant. Signed out, it looks the same for every address. */
export const invitationPage = page({
  path: '/invitation/:token',
  isPlain: true,
  right: 'anyone',

  load({ operators, operator, tenants, params: { token }, href }): {
    invited: Invited | undefined
  } {
    const invitation = operators.invitations.peek(token)
    if (!invitation) return { invited: undefined }
    const { email, role, tenantId } = invitation
    const account = operator && {
      id: operator.id,
      email: operator.email,
      issue: operators.entry.acceptanceIssue(invitation, operator.id),
    }
    const tenantName = tenants.find(tenantId).name
    return {
      invited: { tenantName, role, email, account, loginHref: href('/login', loginTo(token)) },
    }
  },
  status: ({ invited }) => (invited ? 200 : 404),
  title: 'Invitation',

  view: ({ invited }) =>
    invited ? (
      <EntryLayout
        windowTitle="Invitation"
        title={
          <>
            Join <Text text={invited.tenantName} limit={64} />
          </>
        }
        intro={ROLES[invited.role]}
      >
        {invited.account ? (
          <Acceptance {...invited.account} />
        ) : (
          <>
            <PageForm action="" buttons={<Button weight="primary">Create account and join</Button>}>
              <AccountFields email={invited.email} />
            </PageForm>
            <p class="hint">
              Already have an account? <a href={invited.loginHref}>Sign in to accept</a>
            </p>
          </>
        )}
      </EntryLayout>
    ) : (
      <UsedUp what="invitation" next="Ask for a new invitation." />
    ),

  actions: {
    '': {
      right: 'anyone',
      form: ACCOUNT_FORM,
      async run(context) {
        const { operators, operator, params, fields } = context
        if (!operators.invitations.peek(params.token)) return { again: true }
        if (trimmedText(fields, ACCOUNT_FIELD) !== (operator?.id ?? ''))
          throw conflict(
            'you signed in or out in another tab. Check the account below, then try again',
          )
        return operator ? join(context, operator) : joinAsNewcomer(context)
      },
    },
  },
})

const loginTo = (token: string) => ({ to: `/console/invitation/${token}` })

type Context = AnyonePageContext<'/invitation/:token/'>

/** Selects the joined tenant. An account that had to be secured goes on in a new session. */
async function join(
  { operators, params: { token }, device, baseUrl }: Context,
  operator: NonNullable<Context['operator']>,
): Promise<Outcome> {
  const { tenantId, renewed } = await operators.entry.join(token, operator.id, device)
  const sessionId = renewed?.session.id ?? operator.sessionId
  await operators.scopes.choose({ ...operator, sessionId }, tenantId)
  if (!renewed) return { to: '' }
  const cookies = createSessionCookie({ baseUrl }).sessionCookies(renewed.token)
  return { to: '/account', query: { done: 'account.secured' }, cookies }
}

async function joinAsNewcomer(context: Context): Promise<Outcome> {
  const {
    operators,
    params: { token },
    fields,
    device,
    baseUrl,
  } = context
  const { displayName, password } = newcomerIn(fields)
  const session = await operators.entry.joinAsNewcomer(token, { displayName, password }, device)
  return session === undefined
    ? { to: '/login', query: loginTo(token) }
    : { to: '', cookies: createSessionCookie({ baseUrl }).sessionCookies(session) }
}

/** Accepts an invitation as the signed-in operator. */
function Acceptance({ id, email, issue }: NonNullable<Invited['account']>) {
  const { href, actionHref, submission } = usePage()
  const mustVerify = issue === 'must verify'
  return (
    <Form
      action={mustVerify ? href('/account/verify') : actionHref('')}
      errors={submission?.errors ?? []}
      hidden={{ [ACCOUNT_FIELD]: id }}
      buttons={
        <Button weight="primary">{mustVerify ? 'Verify email' : 'Accept invitation'}</Button>
      }
    >
      <p class="hint">
        You are signed in as <Text text={email} limit={80} />.
      </p>
      {issue && <p class="hint">{ISSUES[issue]}</p>}
    </Form>
  )
}

const ISSUES: Readonly<Record<AcceptanceIssue, string>> = {
  'must verify': 'Your email address is not verified. Verify it, then open the invitation again.',
  'loses credentials':
    'Your email address is not verified. Accepting removes the password, two-factor authentication, social ' +
    'logins and other sessions of your account, and you set a new password.',
}

const ROLES: Readonly<Record<string, string>> = {
  owner: 'As an owner, you have full access, including API keys, team and billing.',
  member:
    'As a member, you can create and edit, but not delete or manage API keys, team or billing.',
  viewer: 'As a viewer, you can view everything except API keys.',
}
