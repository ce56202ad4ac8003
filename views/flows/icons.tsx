import type { ComponentChildren } from 'preact'

const Icon = ({ children }: { children: ComponentChildren }) => (
  <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    {children}
  </svg>
)

const Round = () => <circle cx="10" cy="10" r="8" />

export const CheckIcon = () => (
  <Icon>
    <Round />
    <path d="m6.5 10.3 2.4 2.4 4.6-5" />
  </Icon>
)

export const ProblemIcon = () => (
  <Icon>
    <Round />
    <path d="M10 5.8v5M10 13.9v.2" />
  </Icon>
)

export const InfoIcon = () => (
  <Icon>
    <Round />
    <path d="M10 9.2v5M10 6.1v.2" />
  </Icon>
)

export const ClockIcon = () => (
  <Icon>
    <Round />
    <path d="M10 5.6V10l3 2" />
  </Icon>
)

export const KeyIcon = () => (
  <Icon>
    <circle cx="6.5" cy="13.5" r="3.5" />
    <path d="m9 11 7.5-7.5M13 7l2.5 2.5" />
  </Icon>
)
