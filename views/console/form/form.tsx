import type { ComponentChildren } from 'preact'
import { ScopedForm } from '../scope.tsx'
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
  <ScopedForm class="form" method={form.method} action={form.action} novalidate>
    <ErrorSummary errors={form.errors ?? []} />
    {Object.entries(form.hidden ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    {form.children}
    <div class="actions">{form.buttons}</div>
  </ScopedForm>
)

/** Fields side by side, where the screen is wide enough. */
export const FieldRow = ({ children }: { children: ComponentChildren }) => (
  <div class="fieldrow">{children}</div>
)
