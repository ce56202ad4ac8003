import type { ComponentChildren } from 'preact'
import { Button } from './form/button.tsx'
import { ScopedForm } from './scope.tsx'

interface Question {
  id: string
  /** On the button that asks, and on the one that does it. */
  verb: string
  /** What it would be done to, for who hears the button and does not see its row. */
  of?: string
  question: ComponentChildren
  consequence: ComponentChildren
  action: string
  fields?: Record<string, string>
  /** Something that can be undone after all, such as a pause. */
  isHarmless?: boolean
  /** The one thing to do on its page, and harmless. */
  isPrimary?: boolean
  /** Beside a row, or in the head of a section. */
  isSmall?: boolean
  children?: ComponentChildren
}

/**
 * Asks before something that cannot be taken back: a dialog where scripts run, a fold elsewhere.
 * What it does is said in the question; `children` take fields, such as the name to type.
 */
export const Confirm = (confirm: Question) => (
  <details class="confirm">
    <summary class={looksOf(confirm)}>
      {confirm.verb}
      {confirm.of !== undefined && <span class="unseen"> {confirm.of}</span>}
    </summary>
    <div class="question">
      <h3 id={`${confirm.id}-question`}>{confirm.question}</h3>
      <p>{confirm.consequence}</p>
      <ScopedForm action={confirm.action}>
        {Object.entries(confirm.fields ?? {}).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {confirm.children}
        <div class="actions">
          <Button type="button" isScripted closes>
            Keep
          </Button>
          <Button weight={isMild(confirm) ? 'primary' : 'destroy'}>{confirm.verb}</Button>
        </div>
      </ScopedForm>
    </div>
  </details>
)

const isMild = ({ isHarmless, isPrimary }: Question) => isHarmless || isPrimary

const looksOf = ({ isPrimary, isHarmless, isSmall }: Question): string =>
  ['button', isPrimary ? 'primary' : !isHarmless && 'danger', isSmall && 'small']
    .filter(Boolean)
    .join(' ')

/** The end of a detail page, where the things are that cannot be taken back. */
export const DangerZone = ({
  items,
}: {
  items: readonly { title: string; text: string; control: ComponentChildren }[]
}) => (
  <section class="danger" aria-labelledby="danger">
    <h2 id="danger">Danger zone</h2>
    <ul class="card">
      {items.map(({ title, text, control }) => (
        <li>
          <div>
            <h3>{title}</h3>
            <p class="hint">{text}</p>
          </div>
          {control}
        </li>
      ))}
    </ul>
  </section>
)
