import type { ComponentChildren } from 'preact'
import type { Fields } from '../../../src/http/body.ts'
import { useHere } from '../here.tsx'
import { FormContext } from './context.ts'
import { ErrorSummary, type FormError } from './error-summary.tsx'

/** A form: errors, fields, then buttons. */
export const Form = (form: {
  action: string
  method?: 'get' | 'post'
  errors?: readonly FormError[]
  hidden?: Record<string, string>
  buttons: ComponentChildren
  children: ComponentChildren
}) => (
  <form class="form" method={form.method ?? 'post'} action={form.action} novalidate>
    <ErrorSummary errors={form.errors ?? []} />
    {Object.entries(form.hidden ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    {form.children}
    <div class="actions">{form.buttons}</div>
  </form>
)

/**
 * A form of the current page. Its fields have the values of `initial`, or those of a refused submission
 * with their errors.
 */
export function PageForm({
  action,
  anchor,
  initial = {},
  ...form
}: {
  /** Name of the page's action. */
  action: string
  /** ID of the part of the page to show after a refusal. */
  anchor?: string
  initial?: Fields
  hidden?: Record<string, string>
  buttons: ComponentChildren
  children: ComponentChildren
}) {
  const { actionHref, submission } = useHere()
  const isRefused = submission?.action === action
  const { values, errors } = isRefused ? submission : { values: initial, errors: [] }
  return (
    <FormContext.Provider value={{ values, errors }}>
      <Form
        action={anchor ? `${actionHref(action)}#${anchor}` : actionHref(action)}
        errors={errors}
        {...form}
      />
    </FormContext.Provider>
  )
}

/** Fields side by side, where the screen is wide enough. */
export const FieldRow = ({ children }: { children: ComponentChildren }) => (
  <div class="fieldrow">{children}</div>
)
