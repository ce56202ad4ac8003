import type { ComponentChildren } from 'preact'
import { FieldError } from '../../../views/ui/form/field.tsx'
import type { Fields } from '../../http/body.ts'
import { AppError } from '../../platform/errors.ts'
import { trimmedText } from '../form.ts'
import { usePage } from '../page.tsx'

/** Previews what a form says: with scripts while the elements `from` are edited, without on a button. */
export function FormPreview(of: {
  verb: string
  from: readonly string[]
  children: ComponentChildren
}) {
  const { actionHref, submission } = usePage()
  const error = isPreview(submission?.values) ? submission?.errors[0]?.message : undefined
  return (
    <>
      <div class="actions unscripted">
        <button type="submit" class="button small" name="intent" value="preview">
          {of.verb}
        </button>
      </div>
      <div
        id="preview"
        aria-live="polite"
        hx-post={actionHref('')}
        hx-select="#preview > *"
        hx-swap="innerHTML"
        hx-trigger={of.from.map((element) => `input delay:400ms from:${element}`).join(', ')}
        hx-include="closest form"
        hx-vals='{"intent":"preview"}'
      >
        {of.children}
        {error !== undefined && <FieldError name="preview" error={error} />}
      </div>
    </>
  )
}

/** Whether a form was sent for its preview. */
export const isPreview = (fields: Fields = {}): boolean =>
  trimmedText(fields, 'intent') === 'preview'

/** What `read` returns; undefined for invalid input. */
export function validOr<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return undefined
    throw error
  }
}
