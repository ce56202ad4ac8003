import type { ComponentChildren } from 'preact'

/** Layout of pages outside the console: title, style sheet, content. */
export const Page = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/assets/gatehouse.css" />
    </head>
    <body>{children}</body>
  </html>
)
