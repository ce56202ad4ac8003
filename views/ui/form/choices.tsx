import type { ComponentChildren } from 'preact'
import { Icon } from '../icons.tsx'
import {
  controlAttributes,
  FieldError,
  type FieldParts,
  idOf,
  Labelled,
  useChecked,
  useChoices,
  useField,
} from './field.tsx'

interface ChoiceOption {
  value: string
  label: string
  text?: ComponentChildren
}

interface Group extends FieldParts {
  options: readonly ChoiceOption[]
}

/** Checkboxes of one name. `checkedValues` reads the submitted ones. */
export const Checkboxes = (group: Group & { values?: readonly string[] }) => (
  <Choices {...useChoices(group)} type="checkbox" />
)

/** Radio buttons, each with an optional description. */
export function Radios(group: Group & { value?: string }) {
  const { value, ...field } = useField(group)
  return <Choices {...field} type="radio" values={value === undefined ? [] : [value]} />
}

/** A single checkbox. */
export const Checkbox = (box: FieldParts & { isChecked?: boolean; value?: string }) => (
  <div class="field">
    <label class="tick" for={idOf(box.name)}>
      <input
        type="checkbox"
        id={idOf(box.name)}
        name={box.name}
        value={box.value ?? 'true'}
        checked={useChecked(box.name, box.isChecked)}
        required={box.isRequired}
        aria-describedby={describedBy(box)}
      />
      <span>{box.label}</span>
    </label>
    <HelpAndError {...box} />
  </div>
)

const Choices = (group: Group & { type: 'checkbox' | 'radio'; values: readonly string[] }) => (
  <fieldset
    class={group.error === undefined ? 'field' : 'field wrong'}
    id={idOf(group.name)}
    aria-describedby={describedBy(group)}
  >
    <legend>{group.label}</legend>
    <div class="choices">
      {group.options.map(({ value, label, text }) => {
        const id = idOf(`${group.name}-${value}`)
        return (
          <label class="tick" for={id}>
            <input
              type={group.type}
              id={id}
              name={group.type === 'checkbox' ? `${group.name}[]` : group.name}
              value={value}
              checked={group.values.includes(value)}
              required={group.type === 'radio' && group.isRequired}
            />
            <span>
              {label}
              {text && <span class="hint">{text}</span>}
            </span>
          </label>
        )
      })}
    </div>
    <HelpAndError {...group} />
  </fieldset>
)

const HelpAndError = ({ name, error, help }: FieldParts) => (
  <>
    <FieldError name={name} error={error} />
    {help && (
      <p class="hint" id={`${idOf(name)}-help`}>
        {help}
      </p>
    )}
  </>
)

const describedBy = ({ name, error, help }: FieldParts): string | undefined =>
  [error !== undefined && `${idOf(name)}-error`, help && `${idOf(name)}-help`]
    .filter(Boolean)
    .join(' ') || undefined

export interface Option {
  value: string
  label: string
}

/** A drop-down list. */
export function Select(props: FieldParts & { value?: string; options: readonly Option[] }) {
  const field = useField(props)
  return (
    <Labelled {...field}>
      <div class="control select">
        <select {...controlAttributes(field)} required={field.isRequired}>
          {field.options.map(({ value, label }) => (
            <option value={value} selected={value === field.value}>
              {label}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </Labelled>
  )
}
