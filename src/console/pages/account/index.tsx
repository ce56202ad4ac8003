import { LAYOUT_PATHS } from '../../../../views/layout/navigation.ts'
import { Confirm } from '../../../../views/ui/confirm.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { OperatorSignInMethods } from '../../../engines/gate/operators/sign-in-methods.ts'
import { trimmedText } from '../../form.ts'
import { createSessionCookie } from '../../operators/session-cookie.ts'
import { good, page, usePage } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { Scopes } from './scopes.tsx'
import { type SessionRow, Sessions, sessionRowOf, wordsFor } from './sessions.tsx'
import { SECTIONS, SignInMethods } from './sign-in-methods.tsx'

interface AccountView {
  isVerified: boolean
  signInMethods: OperatorSignInMethods
  /** The current session first, then newest first. */
  sessions: readonly SessionRow[]
}

/** Account of the signed-in operator: profile, sign-in methods, sessions and tenants. */
export const accountPage = page({
  path: '/account',
  right: 'operator',
  title: 'Account',

  load({ gateOperators, operator: { id, sessionId } }): AccountView {
    return {
      isVerified: gateOperators.operatorList.isVerified(id),
      signInMethods: gateOperators.signInMethodsOf(id),
      sessions: gateOperators.sessions
        .list(id)
        .map((session) => sessionRowOf(session, sessionId))
        .toSorted((a, b) => Number(b.isThis) - Number(a.isThis)),
    }
  },

  view({ isVerified, signInMethods, sessions }) {
    const { operator, mail, href, actionHref } = usePage()
    const { displayName, email, isAdmin } = operator
    const others = sessions.filter(({ isThis }) => !isThis).length
    return (
      <>
        <PageHead
          title="Account"
          state={{
            sentence: (
              <>
                Signed in as <Text text={email} limit={64} /> {wordsFor(sessions)}{' '}
                {others === 0 ? 'No other sessions.' : `${counted(others, 'other session')}.`}
              </>
            ),
          }}
          aside={<ActionButton action={href(LAYOUT_PATHS.signOut)}>Sign out</ActionButton>}
          action={
            <ActionButton weight="primary" action={actionHref('settings')}>
              Edit sign-in settings
            </ActionButton>
          }
        />
        <Section
          id="about"
          title="About you"
          note="To change your name or email, select Edit sign-in settings. You return here afterwards."
          isCard
        >
          <Facts
            facts={[
              ['Name', displayName === '' ? 'Not set' : <Text text={displayName} limit={80} />],
              ['Email', <Address email={email} isVerified={isVerified} limit={80} />],
              ['ID', <Id id={operator.id} what="operator ID" />],
              ...(isAdmin ? [['Installation', 'Admin'] as const] : []),
            ]}
          />
          {!isVerified && !mail.hasServer && (
            <p class="hint">
              Gatehouse can't send a verification email yet. <NoMailServer />
            </p>
          )}
          {!isVerified && mail.hasServer && (
            <div class="actions">
              <ActionButton action={actionHref('verify')}>Verify email</ActionButton>
            </div>
          )}
        </Section>
        <Section
          id="ways"
          title="Sign-in methods"
          note="You edit these in the sign-in settings and return here afterwards."
        >
          <SignInMethods methods={signInMethods} />
        </Section>
        <Section
          id="sessions"
          title="Sessions"
          note="If you don't recognize a session, sign it out, then change your password."
          aside={
            others > 0 && (
              <Confirm
                id="end-others"
                verb="Sign out other sessions"
                question="Sign out all other sessions?"
                consequence="All sessions except this one end immediately."
                action={actionHref('end-others')}
              />
            )
          }
        >
          <Sessions sessions={sessions} />
        </Section>
        <Section id="memberships" title="Tenants">
          <Scopes />
        </Section>
      </>
    )
  },

  messages: {
    secured: good(
      'The email address of this account was not verified, so any earlier password, two-factor ' +
        'authentication, social login and session was removed. Set a new password.',
    ),
    left: good('You left the team.'),
  },

  actions: {
    /** Redirects to the hosted settings page, at the requested section. */
    settings: {
      right: 'operator',
      async run({ gateOperators, baseUrl, request, fields }) {
        const section = SECTIONS.find((one) => one === trimmedText(fields, 'section'))
        const page = await gateOperators.begin({
          kind: 'settings',
          returnTo: `${baseUrl()}/console/account`,
          sessionToken: createSessionCookie({ baseUrl }).tokenIn(request),
        })
        return { away: section === undefined ? page : `${page}#section-${section}` }
      },
    },
    /** Redirects to the hosted verification page, which emails a code. */
    verify: {
      right: 'operator',
      async run({ gateOperators, operators, operator, baseUrl }) {
        const isWaiting = operators.signUp.isWaiting(operator.id)
        const returnTo = `${baseUrl()}${isWaiting ? '/console/enter' : '/console/account'}`
        return { away: await gateOperators.begin({ kind: 'verification', returnTo }) }
      },
    },
    'end-others': {
      right: 'operator',
      flash: good('Other sessions signed out.'),
      async run({ gateOperators, operator, actor }) {
        const { id: operatorId, sessionId: keptSessionId } = operator
        await gateOperators.sessions.endOthers(actor, { operatorId, keptSessionId })
      },
    },
    'sessions/:session/end': {
      right: 'operator',
      flash: good('Session signed out.'),
      async run({ gateOperators, operator, actor, params, baseUrl }) {
        const { session: sessionId } = params
        await gateOperators.sessions.end(actor, { operatorId: operator.id, sessionId })
        if (sessionId !== operator.sessionId) return undefined
        return { to: '/login', cookies: createSessionCookie({ baseUrl }).expiredCookies() }
      },
    },
  },
})
