import { ActionButton } from '../../../form/button.tsx'
import { PageHead } from '../../../page-head.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN } from './badges.tsx'
import { Methods } from './methods.tsx'
import { Providers } from './providers.tsx'
import { ReturnUrls } from './return-urls.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Sign-in methods, social login and return URLs of a tenant. */
export const SignInPage = (page: SignInView) => {
  const isBroken = page.providers.some(({ isOn, missing }) => isOn && missing.length > 0)
  return (
    <>
      <PageHead
        title="Sign-in methods"
        state={{ tone: isBroken || lacksMail(page) ? 'warn' : 'good', sentence: sentenceOn(page) }}
        action={
          page.mayChange && (
            <ActionButton weight="primary" action={url(page.base, `${SIGN_IN}/try`)}>
              Try sign-in
            </ActionButton>
          )
        }
      />
      <Methods {...page} />
      <Providers {...page} />
      <ReturnUrls {...page} />
    </>
  )
}

const lacksMail = ({ hasCode, hasMail }: SignInView): boolean => hasCode && !hasMail

function sentenceOn(page: SignInView): string {
  const working = page.providers.filter(({ isOn, missing }) => isOn && missing.length === 0)
  const methods = [
    'a password',
    ...(page.hasCode && page.hasMail ? ['an email code'] : []),
    ...working.map(({ name }) => name),
  ]
  const broken = page.providers.filter(({ isOn, missing }) => isOn && missing.length > 0)
  const issues = [...broken.map(({ name }) => name), ...(lacksMail(page) ? ['Email code'] : [])]
  const sentence = `Users can sign in with ${methods.length === 1 ? methods[0] : listed(methods)}.`
  if (issues.length === 0) return sentence
  return `${sentence} Enabled, but not configured: ${issues.join(', ')}.`
}

const listed = (methods: readonly string[]): string =>
  `${methods.slice(0, -1).join(', ')} or ${methods.at(-1)}`
