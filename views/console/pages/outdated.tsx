import type { Environment } from '../../../src/platform/engines.ts'
import { Button, LinkButton } from '../form/button.tsx'
import type { Theme } from '../frame/model.ts'
import { PlainFrame } from '../frame/plain-frame.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'

/** Where a page acts, as people know it. The installation has no environment. */
export interface ScopeName {
  name: string
  environment?: Environment
}

/** Where a page was opened: `hidden` if its reader has no access there, `unknown` if it does not say. */
export type Opened = ScopeName | 'hidden' | 'unknown'

/** Refuses what a page sent that was opened for another tenant or environment, and offers a way on. */
export const OutdatedPage = (page: {
  base: string
  theme: Theme
  opened: Opened
  acting: ScopeName
  /** Switches back and sends the same fields once more; undefined where that is not possible. */
  resubmission: { action: string; fields: readonly (readonly [string, string])[] } | undefined
}) => (
  <PlainFrame
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
          This page keeps what you entered. To submit it where you opened it, switch back. Switching
          applies to all your open tabs.
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
  </PlainFrame>
)

const TITLE = 'Nothing was changed'

function OpenedIn({ opened }: { opened: Opened }) {
  if (opened === 'hidden') return <>You don't have access to where you opened this page.</>
  if (opened === 'unknown') return <>This page does not say which tenant it was opened in.</>
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
    {environment && ` (${environment} data)`}
  </>
)
