import type { ComponentChildren } from 'preact'
import { assetHref } from './assets.ts'

/** Layout of pages outside the console: title, style sheet, content. */
export const Page = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="icon" href={assetHref('', 'icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href={assetHref('', 'gatehouse.css')} />
    </head>
    <body>{children}</body>
  </html>
)
