import type { ComponentChildren } from 'preact'
import { assetHref } from '../../../../views/assets.ts'
import { FieldError } from '../../../../views/ui/form/field.tsx'
import type { Submission } from '../../../../views/ui/here.tsx'
import type { Fields } from '../../../http/body.ts'
import { accentPath } from '../../../platform/branding/addresses.ts'
import type { BrandingSettings } from '../../../platform/branding/index.ts'
import { usePage } from '../../page.tsx'
import { isPreview } from '../form-preview.tsx'

/** ID of the form that the samples on its page follow. */
export const SAMPLED_FORM = 'sampled'

/** The fields of a preview without errors. */
export const previewed = (submission: Submission | undefined): Fields | undefined =>
  submission && isPreview(submission.values) && submission.errors.length === 0
    ? submission.values
    : undefined

/** Samples beside a form. They follow it while a person types; without scripts, by a button. */
export function Samples({
  accent,
  children,
}: {
  accent: string | null
  children: ComponentChildren
}) {
  const { actionHref, layout, submission, may } = usePage()
  const follow = may('settings') && {
    'hx-post': actionHref(''),
    'hx-select': '#preview > *',
    'hx-swap': 'innerHTML',
    'hx-trigger': `input delay:300ms from:#${SAMPLED_FORM}`,
    'hx-include': `#${SAMPLED_FORM}`,
    'hx-vals': '{"intent":"preview"}',
  }
  const errors = isPreview(submission?.values) ? (submission?.errors ?? []) : []
  return (
    <aside class="samples" aria-labelledby="samples">
      <link rel="stylesheet" href={assetHref(layout.base(), 'flows.css')} />
      <h2 id="samples">Preview</h2>
      <div id="preview" {...follow}>
        {accent && <link rel="stylesheet" href={layout.base() + accentPath(accent)} />}
        {errors.map(({ name, message }) => (
          <FieldError name={`preview-${name}`} error={message} />
        ))}
        {children}
      </div>
    </aside>
  )
}

/** With addresses of logos for the console, which can be below a path. */
export const belowBase = (branding: BrandingSettings, base: string): BrandingSettings => ({
  ...branding,
  logos: Object.fromEntries(
    Object.entries(branding.logos).map(([theme, logo]) => [
      theme,
      { ...logo, path: base + logo.path },
    ]),
  ),
})
