import { Button } from '../../../../views/ui/form/button.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { createSessionCookie } from '../../operators/session-cookie.ts'
import { page } from '../../page.tsx'
import { EntryLayout, UsedUp } from './account-fields.tsx'

/** Signs in with a button, because mail scanners that open links would otherwise use them up. */
export const linkPage = page({
  path: '/link/:token',
  isPlain: true,
  right: 'anyone',

  load: ({ operators, params }) => ({
    isValid: Boolean(operators.links.peek(params.token)?.operatorId),
  }),
  status: ({ isValid }) => (isValid ? 200 : 404),
  title: 'Sign in',

  view: ({ isValid }) =>
    isValid ? (
      <EntryLayout
        windowTitle="Sign in"
        title="Sign in with a link"
        intro="This link works once. Afterwards, set a new password in your account."
      >
        <PageForm action="" buttons={<Button weight="primary">Sign in</Button>}>
          {null}
        </PageForm>
      </EntryLayout>
    ) : (
      <UsedUp
        what="link"
        next="Ask the administrator of the server for a new one: gatehouse operator login-link --email …"
      />
    ),

  actions: {
    '': {
      right: 'anyone',
      async run({ operators, params: { token }, device, baseUrl }) {
        if (!operators.links.peek(token)?.operatorId) return { again: true }
        const { session, isSecured } = await operators.entry.signIn(token, device)
        return {
          to: '/account',
          cookies: createSessionCookie({ baseUrl }).sessionCookies(session),
          ...(isSecured && { query: { done: 'account.secured' } }),
        }
      },
    },
  },
})
