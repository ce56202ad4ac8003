import { controlAttributes, type FieldParts, idOf, Labelled, useField } from './field.tsx'

/** A color such as `#2f6f5e` as text; with scripts, also by the color picker of the browser. */
export function ColorField(props: FieldParts & { value?: string; fallback: string }) {
  const field = useField(props)
  const { value = '', fallback, label } = field
  return (
    <Labelled {...field}>
      <div class="control">
        <input
          class="swatch scripted"
          type="color"
          data-picks={idOf(field.name)}
          value={/^#[0-9a-f]{6}$/i.test(value) ? value : fallback}
          aria-label={`${label}: picker`}
        />
        <input
          {...controlAttributes(field)}
          class="mono"
          type="text"
          value={value}
          placeholder={fallback}
          maxlength={7}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
        />
      </div>
    </Labelled>
  )
}
