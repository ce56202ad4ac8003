import type { FlowPage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Theme } from '../../src/platform/branding/contrast.ts'
import { LegalLinks } from '../flows/branding.tsx'
import { FlowContent } from '../flows/flow.tsx'

/** A sign-in page as users see it in one theme, which nobody can use. */
export const FlowSample = ({ page, theme }: { page: FlowPage; theme: Theme }) => {
  const { branding } = page
  return (
    <div class={`flow branded sample ${theme}`} inert>
      <div class="card">
        <FlowContent
          page={{
            ...page,
            ...(branding && { branding: { ...branding, ...logosIn(branding, theme) } }),
          }}
          isSample
        />
      </div>
      {branding && <LegalLinks branding={branding} language={page.language} />}
    </div>
  )
}

/** The logos as a page has them whose theme is not that of the browser. */
function logosIn({ logos }: NonNullable<FlowPage['branding']>, theme: Theme) {
  const shown = theme === 'dark' ? (logos.dark ?? logos.light) : (logos.light ?? logos.dark)
  return { logos: shown ? { light: shown, ...(logos.dark && { dark: shown }) } : {} }
}
