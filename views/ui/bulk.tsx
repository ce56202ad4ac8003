import { Button } from './form/button.tsx'

interface BulkButton {
  id: string
  href: string
  verb: string
  /** Asked before a destructive action. */
  question?: string
  consequence?: string
}

/** Rows of a list can be selected, for these actions. */
export interface Selection {
  actions: readonly BulkButton[]
  /** IDs of rows that are selected at first. */
  selected: ReadonlySet<string>
}

/** The form that the checkboxes and buttons of a list belong to; rows have forms of their own. */
const FORM = 'selection'

/** Selects all rows of the page. Only with scripts. */
export const SelectAll = () => (
  <th scope="col" class="select">
    <input type="checkbox" class="scripted" aria-label="Select all on this page" data-select-all />
  </th>
)

/** Selects a row. */
export const SelectRow = ({ id, isSelected }: { id: string; isSelected: boolean }) => (
  <td class="select">
    <input
      type="checkbox"
      form={FORM}
      name="ids[]"
      value={id}
      checked={isSelected}
      aria-labelledby={`title-${id}`}
    />
  </td>
)

/** Actions on the selected rows, at the end of the page. With scripts, shown once a row is selected. */
export const BulkBar = ({ actions }: Selection) => (
  <form id={FORM} class="bulkbar" method="post" aria-label="Selected rows">
    <p data-selected-count aria-live="polite">
      Selected
    </p>
    {actions.map((action) =>
      action.question === undefined ? (
        <Button action={action.href}>{action.verb}</Button>
      ) : (
        <details class="confirm">
          <summary class="button danger">{action.verb}</summary>
          <div class="question">
            <h3 id={`${action.id}-question`}>{action.question}</h3>
            <p>{action.consequence}</p>
            <div class="actions">
              <Button type="button" isScripted closes>
                {/^cancel\b/i.test(action.verb) ? 'Go back' : 'Cancel'}
              </Button>
              <Button weight="destroy" action={action.href} form={FORM}>
                {action.verb}
              </Button>
            </div>
          </div>
        </details>
      ),
    )}
  </form>
)
