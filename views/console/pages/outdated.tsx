import type { Environment } from '../../../src/platform/engines.ts'
import { Button, LinkButton } from '../form/button.tsx'
import type { Theme } from '../layout/model.ts'
import { PlainLayout } from '../layout/plain-layout.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'

/** Tenant and environment of a page. The installation has no environment. */
export interface ScopeName {
  name: string
  environment?: Environment
}

/** Where a page was opened: `hidden` without access to it, `unknown` if the request does not say. */
export type Opened = ScopeName | 'hidden' | 'unknown'

/** Rejects a form of a page that was opened in another tenant or environment. */
export const OutdatedPage = (page: {
  base: string
  theme: Theme
  opened: Opened
  acting: ScopeName
  /** Switches back and submits the same fields again; undefined if that is not possible. */
  resubmission: { action: string; fields: readonly (readonly [string, string])[] } | undefined
}) => (
  <PlainLayout
    base={page.base}
    theme={page.theme}
    windowTitle={TITLE}
    title={TITLE}
    intro={
      <>
        <OpenedIn {...page} /> You are now in <Scope {...page.acting} />.
      </>
    }
  >
    {page.resubmission ? (
      <ScopedForm class="form" action={page.resubmission.action}>
        {page.resubmission.fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <p>
          Your input is kept on this page. To submit it where you opened the form, switch back.
          Switching applies to all your open tabs.
        </p>
        <div class="actions">
          <Button weight="primary">Switch back and submit</Button>
          <LinkButton href={url(page.base, '/console')}>Discard</LinkButton>
        </div>
      </ScopedForm>
    ) : (
      <>
        <p>To continue, go back, reload the page and try again.</p>
        <div class="actions">
          <LinkButton href={url(page.base, '/console')}>Go to the console</LinkButton>
        </div>
      </>
    )}
  </PlainLayout>
)

const TITLE = 'Nothing was changed'

function OpenedIn({ opened }: { opened: Opened }) {
  if (opened === 'hidden')
    return <>You no longer have access to the tenant in which you opened this page.</>
  if (opened === 'unknown') return <>The page doesn't say which tenant it was opened in.</>
  return (
    <>
      You opened this page in <Scope {...opened} />.
    </>
  )
}

const Scope = ({ name, environment }: ScopeName) => (
  <>
    <strong>
      <Text text={name} limit={48} />
    </strong>
    {environment && ` (${environment})`}
  </>
)
