import type { ComponentChildren } from 'preact'
import { Icon } from '../icons.tsx'

/** Properties of every kind of field. */
export interface FieldParts {
  name: string
  label: string
  help?: ComponentChildren
  error?: string
  isRequired?: boolean
}

export const idOf = (name: string): string => `field-${name.replaceAll(/[^\w-]/g, '-')}`

export const errorIdOf = (name: string): string => `${idOf(name)}-error`

/** Attributes that link a control to its label, help and error. */
export const controlAttributes = ({ name, help, error }: FieldParts) => ({
  id: idOf(name),
  name,
  'aria-invalid': error === undefined ? undefined : ('true' as const),
  'aria-describedby':
    [error !== undefined && errorIdOf(name), help && `${idOf(name)}-help`]
      .filter(Boolean)
      .join(' ') || undefined,
})

/** A control with label, error and help. */
export const Labelled = (field: FieldParts & { children: ComponentChildren }) => (
  <div class={field.error === undefined ? 'field' : 'field wrong'}>
    <label for={idOf(field.name)}>
      {field.label}
      {field.isRequired === false && <span class="hint"> optional</span>}
    </label>
    {field.children}
    <FieldError name={field.name} error={field.error} />
    {field.help && (
      <p class="hint" id={`${idOf(field.name)}-help`}>
        {field.help}
      </p>
    )}
  </div>
)

export const FieldError = ({ name, error }: { name: string; error?: string }) =>
  error === undefined ? null : (
    <p class="fielderror" id={errorIdOf(name)}>
      <Icon name="problem" />
      <span>{error}</span>
    </p>
  )
