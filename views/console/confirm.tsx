import type { ComponentChildren } from 'preact'
import { Button } from './form/button.tsx'

/**
 * Asks before something that cannot be taken back: a dialog where scripts run, a fold elsewhere.
 * What it does is said in the question; `children` take fields, such as the name to type.
 */
export const Confirm = (confirm: {
  id: string
  /** On the button that asks, and on the one that does it. */
  verb: string
  question: ComponentChildren
  consequence: ComponentChildren
  action: string
  fields?: Record<string, string>
  /** Something that can be undone after all, such as a pause. */
  isHarmless?: boolean
  children?: ComponentChildren
}) => (
  <details class="confirm">
    <summary class={confirm.isHarmless ? 'button' : 'button danger'}>{confirm.verb}</summary>
    <div class="question">
      <h3 id={`${confirm.id}-question`}>{confirm.question}</h3>
      <p>{confirm.consequence}</p>
      <form method="post" action={confirm.action}>
        {Object.entries(confirm.fields ?? {}).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {confirm.children}
        <div class="actions">
          <Button type="button" isScripted closes>
            Keep
          </Button>
          <Button weight={confirm.isHarmless ? 'primary' : 'destroy'}>{confirm.verb}</Button>
        </div>
      </form>
    </div>
  </details>
)

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
