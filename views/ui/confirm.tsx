import type { ComponentChildren } from 'preact'
import { Button } from './form/button.tsx'

interface Question {
  id: string
  /** Label of both buttons: the one that opens the dialog and the one that confirms. */
  verb: string
  /** Object of the verb, for screen readers. */
  of?: string
  question: ComponentChildren
  consequence: ComponentChildren
  action: string
  fields?: Record<string, string>
  /** Can be undone, such as a pause. */
  isHarmless?: boolean
  /** Primary action of its page, and harmless. */
  isPrimary?: boolean
  /** Small button, for rows and section headings. */
  isSmall?: boolean
  children?: ComponentChildren
}

/**
 * Asks for confirmation: a dialog, or an inline disclosure without scripts. `children` are fields, such
 * as a name to type.
 */
export const Confirm = (confirm: Question) => (
  <details class="confirm">
    <summary class={classesOf(confirm)}>
      {confirm.verb}
      {confirm.of !== undefined && <span class="unseen"> {confirm.of}</span>}
    </summary>
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
            {/^cancel\b/i.test(confirm.verb) ? 'Go back' : 'Cancel'}
          </Button>
          <Button weight={isMild(confirm) ? 'primary' : 'destroy'}>{confirm.verb}</Button>
        </div>
      </form>
    </div>
  </details>
)

const isMild = ({ isHarmless, isPrimary }: Question) => isHarmless || isPrimary

const classesOf = ({ isPrimary, isHarmless, isSmall }: Question): string =>
  ['button', isPrimary ? 'primary' : !isHarmless && 'danger', isSmall && 'small']
    .filter(Boolean)
    .join(' ')

type DangerItem =
  | ({ text: string } & Question)
  | { title: string; text: string; control: ComponentChildren }

/** Destructive actions, at the end of a detail page. Each asks for confirmation, or has a control of its own. */
export const DangerZone = ({ items }: { items: readonly DangerItem[] }) => (
  <section class="danger" aria-labelledby="danger">
    <h2 id="danger">Danger zone</h2>
    <ul class="card">
      {items.map((item) => (
        <li>
          <div>
            <h3>{'control' in item ? item.title : item.verb}</h3>
            <p class="hint">{item.text}</p>
          </div>
          {'control' in item ? item.control : <Confirm {...item} />}
        </li>
      ))}
    </ul>
  </section>
)
