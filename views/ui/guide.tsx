import type { ComponentChildren } from 'preact'
import { Icon } from './icons.tsx'
import { StatusShape } from './status.tsx'

/** Numbered steps of a guide. */
export const GuideSteps = ({ children }: { children: ComponentChildren }) => (
  <ol class="guidesteps">{children}</ol>
)

/** A step of a guide: its number becomes a check mark when it is done. */
export const GuideStep = (step: {
  title: ComponentChildren
  isDone: boolean
  children?: ComponentChildren
}) => (
  <li class={step.isDone ? 'done' : undefined}>
    <div>
      <h2>
        {step.title}
        {step.isDone && <span class="unseen"> (done)</span>}
      </h2>
      {step.children}
    </div>
  </li>
)

/** A line of progress while a step waits for its result. */
export const Waiting = ({ children }: { children: ComponentChildren }) => (
  <p class="quietrow">
    <StatusShape tone="busy" />
    <span>{children}</span>
  </p>
)

/** The result at the end of a guide, and what to do with it. */
export const ItWorks = ({
  children,
  next,
}: {
  children: ComponentChildren
  next: ComponentChildren
}) => (
  <section class="itworks" aria-labelledby="works">
    <span class="itworksmark">
      <Icon name="check" />
    </span>
    <div>
      <h2 id="works">It works</h2>
      <p>{children}</p>
      <div class="actions">{next}</div>
    </div>
  </section>
)
