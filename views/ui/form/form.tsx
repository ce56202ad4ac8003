import type { ComponentChildren } from 'preact'
import type { Fields } from '../../../src/http/body.ts'
import { CodeBlock } from '../code.tsx'
import { type FormError, useHere } from '../here.tsx'
import { StatusShape } from '../status.tsx'
import { LinkButton } from './button.tsx'
import { FormContext, idOf } from './field.tsx'

/** A form: errors, fields, then buttons. `cancel` is the page that its last button leads back to. */
export const Form = (form: {
  action: string
  method?: 'get' | 'post'
  errors?: readonly FormError[]
  hidden?: Record<string, string>
  id?: string
  /** Has file inputs. */
  isUpload?: boolean
  buttons: ComponentChildren
  cancel?: string
  children: ComponentChildren
}) => (
  <form
    class="form"
    id={form.id}
    method={form.method ?? 'post'}
    action={form.action}
    enctype={form.isUpload ? 'multipart/form-data' : undefined}
    novalidate
  >
    <ErrorSummary errors={form.errors ?? []} />
    {Object.entries(form.hidden ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    {form.children}
    <div class="actions">
      {form.buttons}
      {form.cancel !== undefined && (
        <LinkButton weight="bare" href={useHere().href(form.cancel)}>
          Cancel
        </LinkButton>
      )}
    </div>
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
  id?: string
  isUpload?: boolean
  buttons: ComponentChildren
  cancel?: string
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

/** How the operator of the server permits requests to a target in its own network. */
const AllowTarget = ({ entry }: { entry: string }) => (
  <div class="remedy">
    <p>
      Gatehouse calls only the public internet. The operator of this server can allow this target:
      add it to <code>gatehouse.toml</code> or the environment, beside the entries that are already
      there, and restart Gatehouse.
    </p>
    <CodeBlock title="gatehouse.toml">{`[outbound]\nallow = ["${entry}"]`}</CodeBlock>
    <CodeBlock title="Environment variable">{`GATEHOUSE_OUTBOUND_ALLOW=${entry}`}</CodeBlock>
  </div>
)

/** Errors of a submitted form, each linked to its field. Takes the focus. */
export const ErrorSummary = ({ errors }: { errors: readonly FormError[] }) =>
  errors.length === 0 ? null : (
    <div class="errorsummary" role="alert" tabindex={-1} autofocus>
      <StatusShape tone="bad" />
      <div>
        <h2>{errors.length === 1 ? 'Fix 1 problem' : `Fix ${errors.length} problems`}</h2>
        <ul>
          {errors.map(({ name, message }) => (
            <li>{name === undefined ? message : <a href={`#${idOf(name)}`}>{message}</a>}</li>
          ))}
        </ul>
        {errors.map(({ allow }) => allow !== undefined && <AllowTarget entry={allow} />)}
      </div>
    </div>
  )
