import type { Preview } from '../../../../src/engines/clockwork/model.ts'
import { Events } from '../../events.tsx'
import { FieldError } from '../../form/labelled.tsx'
import { Section } from '../../section.tsx'
import { UtcTime } from './words.tsx'

const ID = 'preview'
const SHOWN_RUNS = 5

/** Previews the schedule, with scripts without reloading the page. */
export const PreviewButton = ({ action }: { action: string }) => (
  <div class="actions">
    <button
      type="submit"
      class="button small"
      name="intent"
      value="preview"
      hx-post={action}
      hx-target={`#${ID}`}
      hx-select={`#${ID} > *`}
      hx-swap="innerHTML"
      hx-indicator="#progress"
    >
      Preview schedule
    </button>
  </div>
)

/** Area of the preview; with scripts, it updates while typing. */
export const PreviewArea = (of: {
  action: string
  preview?: Preview | undefined
  /** Why there is no preview. */
  error?: string | undefined
  now: number
}) => (
  <div
    id={ID}
    aria-live="polite"
    hx-post={of.action}
    hx-trigger="input delay:400ms from:#field-schedule"
    hx-include="closest form"
    hx-vals='{"intent":"preview"}'
    hx-select={`#${ID} > *`}
    hx-swap="innerHTML"
  >
    {of.preview && <PreviewCard {...of.preview} now={of.now} />}
    {of.error !== undefined && !of.preview && <FieldError name={ID} error={of.error} />}
  </div>
)

const PreviewCard = ({ description, warnings, url: target, ...of }: Preview & { now: number }) => {
  const messages = [...warnings, ...(target?.reason ? [target.reason] : [])]
  return (
    <Section id="preview-title" title={`Runs ${description}`} isCard>
      <ol class="times">
        {of.next_runs.slice(0, SHOWN_RUNS).map((at) => (
          <li>
            <UtcTime at={Date.parse(at)} now={of.now} />
          </li>
        ))}
      </ol>
      {messages.length > 0 && (
        <Events
          label="Warnings"
          events={messages.map((text) => ({
            tone: 'warn',
            title: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
          }))}
        />
      )}
    </Section>
  )
}
