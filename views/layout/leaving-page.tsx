import { LinkButton } from '../ui/form/button.tsx'
import type { Theme } from './model.ts'
import { PlainLayout } from './plain-layout.tsx'

/** Leads to another site, for browsers that don't continue by themselves. */
export const LeavingPage = ({ href, ...layout }: { base: string; theme: Theme; href: string }) => {
  const { host } = new URL(href)
  return (
    <PlainLayout
      {...layout}
      windowTitle={`Continue to ${host}`}
      title={`Continue to ${host}`}
      intro="If your browser stays on this page, select Continue."
    >
      <div class="actions">
        <LinkButton weight="primary" href={href}>
          Continue
        </LinkButton>
      </div>
    </PlainLayout>
  )
}
